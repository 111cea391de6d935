import type { HttpSchema } from './schema.ts'

/** Makes one `T` for each type of the schema, such as a converter. */
export interface TypeMakers<T> {
  /** For the types that are not made from the schema, by name. */
  known: Iterable<readonly [string, T]>
  list(item: T): T
  map(value: T): T
  enum(name: string, numbers: Readonly<Record<string, number>>): T
  /** `fields` is undefined for a name that the schema does not have. */
  message(name: string, fields: Readonly<Record<string, string>> | undefined): T
}

/**
 * The `T` of a type, by its name in the schema. Each is made on its first use, because most types are never used. A
 * message may contain itself: its maker must not need the `T` of a field before the message is used.
 */
export function createTypeTable<T>(
  { messages, enums }: Pick<HttpSchema, 'enums' | 'messages'>,
  makers: TypeMakers<T>,
): (type: string) => T {
  const made = new Map<string, T>(makers.known)

  function of(type: string): T {
    const value = made.get(type) ?? make(type)
    made.set(type, value)
    return value
  }

  function make(type: string): T {
    if (type.startsWith('[]')) return makers.list(of(type.slice(2)))
    if (type.startsWith('{}')) return makers.map(of(type.slice(2)))
    if (enums[type] !== undefined) return makers.enum(type, enums[type])
    return makers.message(type, messages[type])
  }

  return of
}

import { isObject } from '../lib/json.ts'

/**
 * The properties that the schema requires. With `requiresDefaults` false, without those that have a default: a schema
 * of parsed values requires these too.
 */
export function requiredNames({ required, properties }: Record<string, unknown>, requiresDefaults: boolean): string[] {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return requiresDefaults ? names : names.filter((name) => !hasDefault(properties, name))
}

function hasDefault(properties: unknown, name: string): boolean {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) && Object.hasOwn(property, 'default')
}

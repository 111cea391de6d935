/**
 * Converts between protobuf's JSON format (https://protobuf.dev/programming-guides/json/) and messages.
 *
 * Messages have the shape of `@temporalio/proto`, with two exceptions: 64-bit integers are plain numbers, and an `Any`
 * is an `ErrorDetail`.
 */
import { isObject } from '../../../lib/is-object.ts'
import { type ErrorDetail, shortName } from '../transport.ts'
import { type Kind, SCALARS, toInteger, toText, unexpected } from './proto-scalars.ts'
import type { HttpSchema } from './schema.ts'

export interface ProtoJson {
  /** `type` is a name in the schema. Missing fields get defaults. Throws when the JSON is not a message of the type. */
  read(type: string, json: unknown): object
  write(type: string, message: object): object
}

// The limit of protobuf over gRPC.
const MAX_DEPTH = 100

/** Types are read from the schema on first use: most of them are never used. */
export function createProtoJson({ messages, enums }: Pick<HttpSchema, 'enums' | 'messages'>): ProtoJson {
  const kinds = new Map<string, Kind>([...SCALARS, ['Any', anyKind()]])

  function kindOf(type: string): Kind {
    const kind = kinds.get(type) ?? makeKind(type)
    kinds.set(type, kind)
    return kind
  }

  function makeKind(type: string): Kind {
    if (type.startsWith('[]')) return listOf(kindOf(type.slice(2)))
    if (type.startsWith('{}')) return mapOf(kindOf(type.slice(2)))
    if (enums[type] !== undefined) return enumKind(enums[type])
    if (messages[type] !== undefined) return messageKind(messages[type], kindOf)
    throw new Error(`the schema has no type ${type}`)
  }

  function anyKind(): Kind {
    return {
      none: null,
      read(json, depth): ErrorDetail {
        const { '@type': url, ...fields } = isObject(json) ? json : {}
        const name = shortName(typeof url === 'string' ? url : '')
        try {
          return { name, fields: Object.hasOwn(messages, name) ? (kindOf(name).read(fields, depth) as object) : {} }
        } catch {
          // A detail that cannot be read must not hide the error that it belongs to.
          return { name, fields: {} }
        }
      },
      write() {
        throw new Error('writing an Any is not supported')
      },
    }
  }

  return {
    read: (type, json) => kindOf(type).read(json, 0) as object,
    write: (type, message) => kindOf(type).write(message) as object,
  }
}

/** `kindOf` is called on the first use of the message, because a message may contain itself. */
function messageKind(types: Record<string, string>, kindOf: (type: string) => Kind): Kind {
  let known: MessageFields | null = null
  const fields = () => (known ??= toMessageFields(types, kindOf))
  return {
    none: null,
    read(json, depth) {
      if (!isObject(json)) throw unexpected('a message', json)
      if (depth > MAX_DEPTH) throw new Error(`messages are nested more than ${MAX_DEPTH} levels deep`)
      return readMessage(json, fields(), depth)
    },
    write: (message) => writeMessage(message as object, fields()),
  }
}

interface MessageFields {
  kinds: ReadonlyMap<string, Kind>
  defaults: object
}

function toMessageFields(types: Record<string, string>, kindOf: (type: string) => Kind): MessageFields {
  const kinds = new Map(Object.entries(types).map(([name, type]) => [name, kindOf(type)]))
  return { kinds, defaults: Object.fromEntries([...kinds].map(([name, { none }]) => [name, none])) }
}

function readMessage(json: Record<string, unknown>, { kinds, defaults }: MessageFields, depth: number): object {
  const message: Record<string, unknown> = Object.create(defaults)
  for (const [name, value] of Object.entries(json)) {
    const read = value === null ? undefined : kinds.get(name)?.read(value, depth + 1)
    if (read !== undefined) message[name] = read
  }
  return message
}

function writeMessage(message: object, { kinds }: MessageFields): object {
  const json: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(message)) {
    const kind = kinds.get(name)
    if (kind !== undefined && value != null && value !== kind.none) json[name] = kind.write(value)
  }
  return json
}

function listOf({ read, write }: Kind): Kind {
  return {
    none: Object.freeze([]),
    read(json, depth) {
      if (!Array.isArray(json)) throw unexpected('a list', json)
      return json.map((item) => read(item, depth)).filter((item) => item !== undefined)
    },
    write: (list) => (list as unknown[]).map(write),
  }
}

/** Keys are data: `__proto__` is a key like any other. */
function mapOf({ read, write }: Kind): Kind {
  return {
    none: Object.freeze({}),
    read(json, depth) {
      if (!isObject(json)) throw unexpected('a map', json)
      const entries = Object.entries(json).map(([key, value]) => [toText(key), read(value, depth)] as const)
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    },
    write: (map) => Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, write(value)])),
  }
}

function enumKind(values: Record<string, number>): Kind {
  const numbers = new Map(Object.entries(values))
  return {
    none: 0,
    read: (json) => (typeof json === 'string' ? numbers.get(json) : toInteger(json)),
    write: (value) => [...numbers].find(([, number]) => number === value)?.[0] ?? value,
  }
}

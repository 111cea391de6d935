/**
 * Protobuf's JSON and the messages that it stands for, as Temporal's own package has them but for two things: 64-bit integers are
 * plain numbers, and of an `Any` there is its `ErrorDetail`.
 *
 * https://protobuf.dev/programming-guides/json/
 */
import { isObject } from '../../../lib/is-object.ts'
import { type ErrorDetail, shortName } from '../transport.ts'
import { type Kind, SCALARS, toInteger, toText, unlike } from './proto-scalars.ts'
import type { HttpSchema } from './schema.ts'

export interface ProtoJson {
  /** The message of this type, by its name in the schema, that the JSON stands for, with defaults for what it does not say. Throws when it can't be one. */
  read(type: string, json: unknown): object
  write(type: string, message: object): object
}

// As deep as messages from gRPC may be.
const MAX_DEPTH = 100

/** Types are read from the schema at their first use: most of them never are. */
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
    if (messages[type] !== undefined) return messageKind(messages[type])
    throw new Error(`${type} has no JSON here`)
  }

  function messageKind(types: Record<string, string>): Kind {
    let known: ReadonlyMap<string, Kind> | null = null
    const defaults: Record<string, unknown> = {}
    // Not before it is asked for: a message may hold itself.
    const fields = () => {
      if (known !== null) return known
      known = new Map(Object.entries(types).map(([name, type]) => [name, kindOf(type)]))
      for (const [name, { none }] of known) defaults[name] = none
      return known
    }
    return {
      none: null,
      read(json, depth) {
        if (!isObject(json)) throw unlike('a message', json)
        if (depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} messages within each other`)
        const kindsOfFields = fields()
        const message: Record<string, unknown> = Object.create(defaults)
        for (const [name, value] of Object.entries(json)) {
          const read = value === null ? undefined : kindsOfFields.get(name)?.read(value, depth + 1)
          if (read !== undefined) message[name] = read
        }
        return message
      },
      write(message) {
        const json: Record<string, unknown> = {}
        for (const [name, value] of Object.entries(message as object)) {
          const kind = fields().get(name)
          if (kind !== undefined && value != null && value !== kind.none) json[name] = kind.write(value)
        }
        return json
      },
    }
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
          // What can't be read of a refusal must not hide it.
          return { name, fields: {} }
        }
      },
      write() {
        throw new Error('no call of ours sends an Any')
      },
    }
  }

  return {
    read: (type, json) => kindOf(type).read(json, 0) as object,
    write: (type, message) => kindOf(type).write(message) as object,
  }
}

function listOf({ read, write }: Kind): Kind {
  return {
    none: Object.freeze([]),
    read(json, depth) {
      if (!Array.isArray(json)) throw unlike('a list', json)
      return json.map((item) => read(item, depth)).filter((item) => item !== undefined)
    },
    write: (list) => (list as unknown[]).map(write),
  }
}

/** Keys are data: `__proto__` is one like any other. */
function mapOf({ read, write }: Kind): Kind {
  return {
    none: Object.freeze({}),
    read(json, depth) {
      if (!isObject(json)) throw unlike('a map', json)
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

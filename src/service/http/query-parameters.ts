/** Reads and validates the query string of a request. */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { isObject, toPointer } from '../../shared/lib/json.ts'
import { invalidValue, ServiceError } from '../model/errors.ts'
import type { Env } from './context.ts'
import { URL_TOKEN } from './credentials/access-tokens.ts'
import { validateWith } from './pipeline/body.ts'

/**
 * The parameters as the schema returns them, without the token of the caller. Parameters that are written `name[key]`
 * become one object, and `lists` are those that may be repeated. Throws `ValidationError` for parameters that the
 * schema does not know, and for others that are repeated.
 */
export function queryParameters<T>(c: Context<Env>, schema: z.ZodMiniType<T>, lists: readonly string[] = []): T {
  const { search } = new URL(c.req.raw.url)
  const parameters: [string, unknown][] = []
  const maps = new Map<string, [string, string][]>()
  const listed = new Map<string, string[]>()
  for (const [name, value] of decodePairs(search)) {
    if (name === URL_TOKEN && c.get('urlToken') !== undefined) continue
    const list = lists.find((list) => name.startsWith(`${list}[`))
    // axios and others write lists so.
    if (list !== undefined) throw invalid([name], `must be written as ${list}=…, once for each value`)
    const [, map, key] = /^(\w+)\[(.+)\]$/s.exec(name) ?? []
    if (lists.includes(name)) listed.set(name, [...(listed.get(name) ?? []), value])
    else if (map === undefined || key === undefined) parameters.push([name, value])
    else maps.set(map, [...(maps.get(map) ?? []), [key, value]])
  }
  parameters.push(...listed)
  const objects = [...maps].map(([name, pairs]) => [name, toObject(pairs, name)] as const)
  return validateWith(schema, toObject([...parameters, ...objects]), adviceWith(schema))
}

// Names that other APIs use, and ours.
const OTHER_NAMES = new Map([
  ['limit', 'pageSize'],
  ['workflowType', 'workflowName'],
  ['longPollTimeoutMs', 'wait'],
])

function adviceWith(schema: object) {
  const own = 'shape' in schema && isObject(schema.shape) ? schema.shape : {}
  return (parameters: unknown): string | null => {
    const given = Object.keys(parameters as object).flatMap((name) => {
      const known = OTHER_NAMES.get(name)
      return known === undefined || name in own ? [] : [`use ${known} instead of ${name}`]
    })
    return given.length === 0 ? null : given.join(', ')
  }
}

function decodePairs(search: string): [string, string][] {
  try {
    // `decodeURIComponent` throws for invalid UTF-8, which URLSearchParams would replace with other characters.
    return search
      .slice(1)
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const [name = '', ...value] = pair.replaceAll('+', ' ').split('=')
        return [decodeURIComponent(name), decodeURIComponent(value.join('='))]
      })
  } catch (cause) {
    throw new ServiceError('ValidationError', 'The query string is not valid percent-encoded UTF-8', { cause })
  }
}

function toObject(pairs: readonly (readonly [string, unknown])[], ...path: string[]): object {
  const names = new Set<string>()
  for (const [name] of pairs) {
    if (name === '__proto__') throw invalid([...path, name], 'is not a known field')
    if (names.has(name)) throw invalid([...path, name], 'must not be repeated')
    names.add(name)
  }
  return Object.fromEntries(pairs)
}

// The response must not grow with the request.
const MAX_SHOWN_NAME = 200

function invalid(names: string[], message: string): ServiceError {
  return invalidValue(toPointer(names.map((name) => name.slice(0, MAX_SHOWN_NAME))), message)
}

/** Which ids and names are accepted. Each function returns what is wrong, or null. */
import { UUID_PATTERN } from './run-ref.ts'

const encoder = new TextEncoder()

/** URLs cannot contain the first two as a path segment; the others are static routes. */
export const RESERVED_IDS = new Set(['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start'])

/** How ids and names of Portico's own runs begin, and of those of the engine: schedulers, batches, deployments. */
export const RESERVED_PREFIXES = ['$', '__temporal_', 'temporal-sys-']

export function workflowIdIssue(id: string): string | null {
  if (RESERVED_IDS.has(id)) return `"${id}" is reserved`
  return stringIssue(id, 1000) ?? prefixIssue(id, RESERVED_PREFIXES)
}

export function workflowNameIssue(name: string): string | null {
  return stringIssue(name, 1000) ?? prefixIssue(name, RESERVED_PREFIXES)
}

/** Whether only Portico or the engine has workflows of this name, or of this id. */
export function isReservedName(name: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** For a signal, query or update. Built-in handlers like `__stack_trace` would reveal file paths. */
export function handlerNameIssue(name: string): string | null {
  return stringIssue(name, 1000) ?? prefixIssue(name, ['$', '__'])
}

const UUID = new RegExp(`^${UUID_PATTERN}$`)

export function runIdIssue(id: string): string | null {
  return UUID.test(id) ? null : 'must be a UUID'
}

/** The engine keeps updates by ids of any characters. */
export function updateIdIssue(id: string): string | null {
  return stringIssue(id, 1000)
}

/** Workflow code chooses it, or its SDK. */
export function activityIdIssue(id: string): string | null {
  return stringIssue(id, 1000)
}

/** 977 bytes: the engine puts `temporal-sys-scheduler:` before it, and has a workflow with this id. */
export function scheduleIdIssue(id: string): string | null {
  return stringIssue(id, 977) ?? prefixIssue(id, RESERVED_PREFIXES)
}

export const BATCH_ID_PATTERN = '[0-9a-f]{16}-[0-9a-f]{32}'

const BATCH_ID = new RegExp(`^${BATCH_ID_PATTERN}$`)

/** The service chooses it. */
export function batchIdIssue(id: string): string | null {
  return BATCH_ID.test(id) ? null : 'must be the id of a batch'
}

/** Of the runs of a schedule. 979 bytes: the engine appends `-` and a time. */
export function scheduledWorkflowIdIssue(id: string): string | null {
  return stringIssue(id, 979) ?? prefixIssue(id, RESERVED_PREFIXES)
}

/** Workflow code chooses it: a UUID, but any string is a key. */
export function questionKeyIssue(key: string): string | null {
  return stringIssue(key, 1000)
}

/** 991 bytes, because `$catalog:` and the name must fit into a workflow id, which has at most 1000. */
export function catalogIssue(catalog: string): string | null {
  return stringIssue(catalog, 991) ?? prefixIssue(catalog, ['/_sys/', '__temporal_'])
}

/** An activity on a queue of Portico's own could send webhooks, or claim to be the archiver. */
export function activityCatalogIssue(catalog: string): string | null {
  return catalogIssue(catalog) ?? prefixIssue(catalog, ['$'])
}

/** Finds what Temporal's databases and wire format do not accept. */
export function characterIssue(value: string): string | null {
  if (!value.isWellFormed()) return 'must be well-formed Unicode (it contains a lone surrogate)'
  if (value.includes('\0')) return 'must not contain NUL characters'
  return null
}

/** For a pattern of ids or names, in which a `*` at the end stands for any characters. */
export function patternIssue(pattern: string): string | null {
  if (pattern === '') return 'must not be empty'
  if (/\*./su.test(pattern)) return 'must not contain "*" except at its end'
  return characterIssue(pattern)
}

/** For a value that the engine compares with values of runs. */
export function filterValueIssue(value: string): string | null {
  return characterIssue(value) ?? (/\p{Cc}/u.test(value) ? 'must not contain control characters' : null)
}

function stringIssue(value: string, maxBytes: number): string | null {
  // No character takes more than three bytes for each unit of its length.
  if (value.length > 0 && 3 * value.length <= maxBytes) return characterIssue(value)
  const bytes = encoder.encode(value).length
  if (bytes < 1 || bytes > maxBytes) return `must be 1 to ${maxBytes} bytes of UTF-8, not ${bytes}`
  return characterIssue(value)
}

function prefixIssue(value: string, prefixes: string[]): string | null {
  const prefix = prefixes.find((reserved) => value.startsWith(reserved))
  return prefix === undefined ? null : `must not start with "${prefix}", which is reserved`
}

/** Which ids and names may reach the engine. Each function says what is wrong, or null. */

const encoder = new TextEncoder()

// No URL reaches the first two; static routes win over the others.
const RESERVED_IDS = new Set(['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start'])

export function workflowIdFault(id: string): string | null {
  if (RESERVED_IDS.has(id)) return `"${id}" is reserved`
  return textFault(id, 1000) ?? prefixFault(id, ['$', '__temporal_'])
}

export function workflowNameFault(name: string): string | null {
  return textFault(name, 1000) ?? prefixFault(name, ['$', '__temporal_'])
}

/** Of a signal, query or update: `__stack_trace` and its like answer file paths. */
export function handlerNameFault(name: string): string | null {
  return textFault(name, 1000) ?? prefixFault(name, ['$', '__'])
}

/** 991: with `$catalog:` before it, it has to fit the engine's 1000 bytes for a workflow id. */
export function catalogFault(catalog: string): string | null {
  return textFault(catalog, 991) ?? prefixFault(catalog, ['/_sys/', '__temporal_'])
}

/** What the engine's databases and wire can't carry. */
export function characterFault(text: string): string | null {
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it has a lone surrogate)'
  if (text.includes('\0')) return 'must not contain NUL'
  return null
}

function textFault(text: string, maxBytes: number): string | null {
  const bytes = encoder.encode(text).length
  if (bytes < 1 || bytes > maxBytes) return `must be 1 to ${maxBytes} bytes of UTF-8, not ${bytes}`
  return characterFault(text)
}

function prefixFault(text: string, prefixes: string[]): string | null {
  const prefix = prefixes.find((reserved) => text.startsWith(reserved))
  return prefix === undefined ? null : `must not begin with "${prefix}", which is reserved`
}

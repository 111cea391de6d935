/** What the service has said about an input, and at which field it is shown. */
import type { Draft } from './draft.ts'
import type { Field } from './schema-field.ts'

export interface Issue {
  path: string
  message: string
}

/** An issue about a missing property belongs to that property. */
export function pointerOf({ path, message }: Issue): string {
  const missing = /required property "((?:\\.|[^"\\])*)"/.exec(message)?.[1]
  return missing === undefined ? path : `${path}/${escaped(missing)}`
}

export function issueAt(issues: readonly Issue[], pointer: string): string | null {
  const found = issues.find((issue) => pointerOf(issue) === pointer)
  if (found === undefined) return null
  return pointerOf(found) === found.path ? found.message : 'is required'
}

export function placesOf(field: Field, draft: Draft, pointer: string, issues: readonly Issue[]): Set<string> {
  const pointers = new Set<string>()
  const waiting: [Field, Draft, string][] = [[field, draft, pointer]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [own, value, at] = next
    pointers.add(at)
    if (own.kind === 'object')
      for (const { name, field: property } of own.properties) {
        const inner = value.properties.get(name)
        if (inner) waiting.push([property, inner, `${at}/${escaped(name)}`])
      }
    if (own.kind === 'array')
      for (const [index, { draft: item }] of value.items.entries()) waiting.push([own.items, item, `${at}/${index}`])
  }
  return new Set(issues.filter((issue) => pointers.has(pointerOf(issue))).map(({ path }) => path))
}

export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** What the service has said about an input, and at which field it is shown. */
import type { Draft } from './draft.ts'
import type { Field } from './schema-field.ts'

export interface FieldIssue {
  path: string
  message: string
}

export function issueAt(issues: readonly FieldIssue[], pointer: string): string | null {
  return issues.find(({ path }) => path === pointer)?.message ?? null
}

/** Whether the form shows a field at the end of the path, whose names are escaped. */
export function hasField(field: Field, draft: Draft, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true
  if (field.kind === 'array') {
    const item = draft.items[Number(step)]
    return item !== undefined && hasField(field.items, item.draft, rest)
  }
  if (field.kind !== 'object' || !draft.isSet) return false
  const property = field.properties.find(({ name }) => escaped(name) === step)
  const own = draft.properties.get(property?.name ?? '')
  return property !== undefined && own !== undefined && hasField(property.field, own, rest)
}

export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

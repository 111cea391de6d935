import { percentEncode } from '../../lib/percent-encode.ts'

/** Both are required: run ids are unique within a namespace only, and every run has an object of its own. */
export const PLACEHOLDERS = ['{namespace}', '{runId}'] as const

export function isTraceTemplate(template: string): boolean {
  return PLACEHOLDERS.every((placeholder) => template.includes(placeholder))
}

/** Replaces `{namespace}` and `{runId}` by their percent-encoded values. */
export function fillTemplate(template: string, { namespace, runId }: { namespace: string; runId: string }): string {
  return template
    .replaceAll('{namespace}', () => percentEncode(namespace))
    .replaceAll('{runId}', () => percentEncode(runId))
}

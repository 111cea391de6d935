import { percentEncode } from '../../lib/percent-encode.ts'

/** Both are required, because every run has its own object, and run ids are unique only within a namespace. */
const PLACEHOLDERS = ['{namespace}', '{runId}'] as const

export function isTraceTemplate(template: string): boolean {
  return PLACEHOLDERS.every((placeholder) => template.includes(placeholder))
}

/** Replaces `{namespace}` and `{runId}` with their percent-encoded values. */
export function fillTemplate(template: string, { namespace, runId }: { namespace: string; runId: string }): string {
  return template
    .replaceAll('{namespace}', () => percentEncode(namespace))
    .replaceAll('{runId}', () => percentEncode(runId))
}

import type { Operation } from './record.ts'

export interface Violation {
  /** What does not hold, such as `done twice`. */
  rule: string
  /** With the client, the marker and the ids. */
  message: string
  /** Of the operation. */
  marker?: string
}

/** Reports a violation, about an operation or about a run that no operation explains. */
export type Report = (rule: string, operation: Operation | null, message: string) => void

/** Whether two values are equal as JSON. The order of properties counts: nothing on the way may change it. */
export function isSame(one: unknown, other: unknown): boolean {
  return text(one) === text(other)
}

export function text(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}

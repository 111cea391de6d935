import type { Failure } from '../../../shared/temporal/failure.ts'
import { IDENTITY } from '../context.ts'

/** The `source` of a failure with this mark. */
export function failureSource(mark: string): string {
  return `${IDENTITY} ${mark}`
}

/** The mark of a failure that `reportActivity` has reported; null for any other. */
export function failureMarkOf(failure: Failure | null | undefined): string | null {
  const source = failure?.source ?? ''
  return source.startsWith(failureSource('')) ? source.slice(failureSource('').length) : null
}

import type { AuditFacts, Call } from '../../src/service/model/call.ts'
import { type ErrorFacts, type ErrorName, ServiceError } from '../../src/service/model/errors.ts'

/** A call with 5 s that records its notes, errors and warnings. */
export function aCall(overrides: Partial<Call> = {}) {
  const notes: Record<string, unknown> = {}
  const reported: Error[] = []
  const outputWarnings: string[] = []
  const audited: Partial<AuditFacts> = {}
  const warnings: { message: string; [fact: string]: unknown }[] = []
  return {
    signal: new AbortController().signal,
    deadlineAt: Date.now() + 5000,
    requestId: 'test',
    note: (fields: Record<string, unknown>) => void Object.assign(notes, fields),
    reportError: (error: Error) => void reported.push(error),
    audit: (facts: Partial<AuditFacts>) => void Object.assign(audited, facts),
    addDecision: () => (facts: Partial<AuditFacts>) => void Object.assign(audited, facts),
    startWaiting: () => {},
    warnOfOutput: (message: string) => void outputWarnings.push(message),
    warn: (message: string, fields: Record<string, unknown>) => void warnings.push({ message, ...fields }),
    notes,
    reported,
    warnings,
    outputWarnings,
    audited,
    ...overrides,
  }
}

/** The `ServiceError` that the promise rejects with; fails for any other outcome. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<{ error: ErrorName; message: string } & ErrorFacts> {
  const error = await promise.then(
    (value) => Promise.reject(new Error(`not rejected, but resolved with ${JSON.stringify(value)}`)),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw error
  return { error: error.error, message: error.message, ...error.details }
}

/** What a run asks people (`src/protocol/asks.ts`), as the protocol's elicitation. */
import { checkInput } from '../../domain/admission/check-input.ts'
import type { Issue } from '../../domain/model/errors.ts'
import { isObject } from '../../lib/json.ts'
import type { Answer, Ask } from '../../protocol/asks.ts'
import { handlerNameIssue } from '../../protocol/names.ts'
import { JsonRpcError, RPC_CODES } from '../rpc-error.ts'

/** An entry of `inputRequests`. */
export interface InputRequest {
  method: 'elicitation/create'
  params: { mode: 'form'; message: string; requestedSchema: Ask['schema'] }
}

/** An answer, and the signal that takes it. */
export interface SignalToSend extends Answer {
  signal: string
}

/** The questions in a memo, by key. Leaves out what is not one. */
export function parseAsks(memo: unknown): ReadonlyMap<string, Ask> {
  if (!isObject(memo)) return new Map()
  return new Map(
    Object.entries(memo).flatMap(([key, ask]) => {
      if (!isObject(ask)) return []
      const { signal, message, schema } = ask
      if (typeof signal !== 'string' || handlerNameIssue(signal) !== null || typeof message !== 'string') return []
      return [[key, { signal, message, schema: isObject(schema) ? schema : ANY_FORM }] as const]
    }),
  )
}

const ANY_FORM: Ask['schema'] = { type: 'object', properties: {} }

export function toInputRequests(asks: ReadonlyMap<string, Ask>): Record<string, InputRequest> {
  const toRequest = ({ message, schema }: Ask): InputRequest => ({
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schema },
  })
  return Object.fromEntries([...asks].map(([key, ask]) => [key, toRequest(ask)]))
}

/**
 * The signals for the accepted answers. A question that is declined stays open, and one that is not open is ignored:
 * it was answered before. Throws an `JsonRpcError` if a content does not match the schema of its question.
 */
export function toSignals(asks: ReadonlyMap<string, Ask>, inputResponses: unknown): SignalToSend[] {
  if (!isObject(inputResponses)) throw invalid('params.inputResponses must be an object')
  const accepted = Object.entries(inputResponses).flatMap(([key, response]) => {
    const ask = asks.get(key)
    if (ask === undefined) return []
    if (!isObject(response) || !ACTIONS.has(response.action))
      throw invalid(`params.inputResponses.${key} must have an action: accept, decline or cancel`)
    return response.action === 'accept' ? [{ key, ask, content: response.content ?? {} }] : []
  })
  const issues = accepted.flatMap(({ key, ask, content }) => issuesOf(key, content, ask))
  if (issues.length > 0) throw invalid('The content does not match the requested schema', issues)
  return accepted.map(({ key, ask, content }) => ({ signal: ask.signal, key, content }))
}

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

function issuesOf(key: string, content: unknown, { schema }: Ask): Issue[] {
  return checkInput(content, schema, `/inputResponses/${key}/content`).issues
}

function invalid(message: string, issues?: readonly Issue[]): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, message, issues && { data: { issues } })
}

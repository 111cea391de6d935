/** What a run asks people (`src/service/model/question.ts`), as the protocol's elicitation. */

import { isObject } from '../../../../shared/lib/json.ts'
import type { Answer, Ask } from '../../../../shared/wire/asks.ts'
import { checkInput } from '../../../catalog/check-input.ts'
import type { Issue } from '../../../model/errors.ts'
import { JsonRpcError, RPC_CODES } from '../rpc-error.ts'

/** An entry of `inputRequests`. */
export interface InputRequest {
  method: 'elicitation/create'
  params: { mode: 'form'; message: string; requestedSchema: Ask['schema'] }
}

type Asked = Pick<Ask, 'message' | 'schema'>

export function toInputRequests(asks: ReadonlyMap<string, Asked>): Record<string, InputRequest> {
  const toRequest = ({ message, schema }: Asked): InputRequest => ({
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schema },
  })
  return Object.fromEntries([...asks].map(([key, ask]) => [key, toRequest(ask)]))
}

// Of a question that is not open, the history must be read.
const MAX_ANSWERS = 100

/**
 * The accepted answers, also to questions that are not open: those may have been answered before. A question that is
 * declined stays open. Throws a `JsonRpcError` if a content does not match the schema of its question.
 */
export function toAnswers(asks: ReadonlyMap<string, Asked>, inputResponses: unknown): Answer[] {
  if (!isObject(inputResponses)) throw invalid('params.inputResponses must be an object')
  const accepted = Object.entries(inputResponses).flatMap(([key, response]) => {
    const ask = asks.get(key)
    if (!isObject(response) || !ACTIONS.has(response.action)) {
      if (ask === undefined) return []
      throw invalid(`params.inputResponses.${key} must have an action: accept, decline or cancel`)
    }
    return response.action === 'accept' ? [{ key, ask, content: response.content ?? {} }] : []
  })
  if (accepted.length > MAX_ANSWERS) throw invalid(`params.inputResponses must have at most ${MAX_ANSWERS} answers`)
  const issues = accepted.flatMap(({ key, ask, content }) => (ask === undefined ? [] : issuesOf(key, content, ask)))
  if (issues.length > 0) throw invalid('The content does not match the requested schema', issues)
  return accepted.map(({ key, content }) => ({ key, content }))
}

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

function issuesOf(key: string, content: unknown, { schema }: Asked): Issue[] {
  return checkInput(content, schema, `/inputResponses/${key}/content`).issues
}

function invalid(message: string, issues?: readonly Issue[]): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, message, issues && { data: { issues } })
}

/** `portico/workflow`: what workflow code imports. Runs in the sandbox of the SDK. */
import {
  condition,
  defineSignal,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow'
import { type Answer, ASKS_MEMO, type Ask } from '../shared/wire/asks.ts'

export interface AskOptions extends Pick<Ask, 'message' | 'schema'> {
  /** The signal that takes the answer. Its handler is registered here. Default: `answer`. */
  signal?: string
  /** Names of people or groups that the question is for. */
  to?: readonly string[]
  /** Until when the answer is needed. Nothing happens then, unless the workflow does it. */
  due?: Date
  /**
   * A search attribute of type keyword list that is registered in the namespace: it has the names in `to`, or `*`, of
   * the questions that are open. With a name that is not registered, the workflow task fails.
   */
  searchAttribute?: string
}

// The open questions of this run. Null until the answer arrives.
const answers = new Map<string, Pick<Answer, 'content'> | null>()

// The search attributes of open questions, with their values.
const listed = new Map<string, { searchAttribute: string; names: readonly string[] }>()

/**
 * Asks a person, and returns the content of their answer. Clients of the service list the question, and MCP clients
 * show it as a form. `schema` is a plain JSON Schema: an object whose properties are strings, numbers, booleans or
 * enumerations. The service checks the answers that it sends, but other clients can send any signal.
 *
 * Rejects if the workflow is canceled.
 */
export async function ask<Content>(options: AskOptions): Promise<Content> {
  const { message, schema, signal = 'answer', to, due, searchAttribute } = options
  const key = uuid4()
  answers.set(key, null)
  setHandler(defineSignal<[Answer]>(signal), ({ key, content }) => {
    // The first answer counts.
    if (answers.get(key) === null) answers.set(key, { content })
  })
  const asked: Ask = {
    ...{ signal, message, schema },
    ...(to && { to }),
    askedAt: new Date().toISOString(),
    ...(due && { due: due.toISOString() }),
  }
  upsertMemo({ [ASKS_MEMO]: { ...openAsks(), [key]: asked } })
  if (searchAttribute !== undefined) {
    listed.set(key, { searchAttribute, names: to ?? ['*'] })
    listNames(searchAttribute)
  }
  try {
    await condition(() => answers.get(key) !== null)
    return answers.get(key)?.content as Content
  } finally {
    answers.delete(key)
    const { [key]: _, ...others } = openAsks()
    upsertMemo({ [ASKS_MEMO]: others })
    if (listed.delete(key) && searchAttribute !== undefined) listNames(searchAttribute)
  }
}

/** Sets the search attribute to the names of all questions that use it. */
function listNames(searchAttribute: string): void {
  const own = [...listed.values()].filter((one) => one.searchAttribute === searchAttribute)
  upsertSearchAttributes({ [searchAttribute]: [...new Set(own.flatMap(({ names }) => names))] })
}

function openAsks(): Record<string, Ask> {
  return (workflowInfo().memo?.[ASKS_MEMO] ?? {}) as Record<string, Ask>
}

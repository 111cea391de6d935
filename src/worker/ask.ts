/** `portico/workflow`: what workflow code imports. Runs in the sandbox of the SDK. */
import { condition, defineSignal, setHandler, upsertMemo, uuid4, workflowInfo } from '@temporalio/workflow'
import { type Answer, ASKS_MEMO, type Ask } from '../protocol/asks.ts'

export interface AskOptions extends Pick<Ask, 'message' | 'schema'> {
  /** The signal that takes the answer. Its handler is registered here. Default: `answer`. */
  signal?: string
}

// The open questions of this run. Null until the answer arrives.
const answers = new Map<string, Pick<Answer, 'content'> | null>()

/**
 * Asks a person, and returns the content of their answer. MCP clients show the question as a form. `schema` is a plain
 * JSON Schema: an object whose properties are strings, numbers, booleans or enumerations. The service checks answers
 * that come through MCP, but other clients can send any signal.
 *
 * Rejects if the workflow is canceled.
 */
export async function ask<Content>({ message, schema, signal = 'answer' }: AskOptions): Promise<Content> {
  const key = uuid4()
  answers.set(key, null)
  setHandler(defineSignal<[Answer]>(signal), ({ key, content }) => {
    // The first answer counts.
    if (answers.get(key) === null) answers.set(key, { content })
  })
  upsertMemo({ [ASKS_MEMO]: { ...openAsks(), [key]: { signal, message, schema } satisfies Ask } })
  try {
    await condition(() => answers.get(key) !== null)
    return answers.get(key)?.content as Content
  } finally {
    answers.delete(key)
    const { [key]: _, ...others } = openAsks()
    upsertMemo({ [ASKS_MEMO]: others })
  }
}

function openAsks(): Record<string, Ask> {
  return (workflowInfo().memo?.[ASKS_MEMO] ?? {}) as Record<string, Ask>
}

/** `portico questions` and `answer`. */

import type { CommonFlags } from '../command.ts'
import { callService, READ_TIMEOUT_MS } from '../command.ts'
import { readJsonArgument } from '../flags/json-argument.ts'
import { readInteger } from '../flags/number-flags.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { renderQuestions } from '../output/lists.ts'
import { cellOf, zonedTime } from '../output/table.ts'
import { type FilterFlags, filterOf } from './list.ts'

type QuestionFlags = FilterFlags & { to?: string[]; pageSize?: string; pageToken?: string }

export async function questions(flags: QuestionFlags): Promise<void> {
  await callService(flags, async ({ client, settings, signal, columns, show }) => {
    const { to, pageSize, pageToken } = flags
    const page = await client
      .questions({
        ...filterOf(flags, settings),
        ...(to !== undefined && { to }),
        ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
        ...(pageToken !== undefined && { pageToken }),
        signal,
        timeoutMs: READ_TIMEOUT_MS,
      })
      .page()
    return show(page, ({ questions, nextPageToken }) => renderQuestions(questions, nextPageToken, columns))
  })
}

export async function answer(
  id: string,
  key: string,
  flags: CommonFlags & RunFlags & { content: string },
): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const content = await readJsonArgument('--content', flags.content, signal)
    const answered = await handleOf(client, id, flags).answer(key, content, { signal, timeoutMs: READ_TIMEOUT_MS })
    return show(answered, ({ workflowId, at }) => {
      const time = zonedTime(at)
      return `The answer to ${cellOf(workflowId)} is recorded${time === null ? '' : ` since ${time}`}.`
    })
  })
}

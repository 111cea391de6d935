/** Sends a bulk whose lines are all known, and reads its answers. */
import type { Api } from './api.ts'

export interface BulkLineAnswer {
  index: number
  status: number
  replayed?: boolean
  started?: boolean
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  body: any
}

export const NDJSON = { 'Content-Type': 'application/x-ndjson' }

export function toLines(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** The answers in the order of the lines, and the last line. */
export async function bulkOf(
  { post }: Pick<Api, 'post'>,
  lines: readonly unknown[],
  headers: Record<string, string> = {},
): Promise<{ answers: BulkLineAnswer[]; end: unknown; requestId: string | null }> {
  const { text, headers: received } = await post('bulk', toLines(lines), { ...NDJSON, ...headers })
  const answers = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const end = answers.pop()
  return {
    answers: answers.toSorted((one, other) => one.index - other.index),
    end,
    requestId: received.get('X-Request-Id'),
  }
}

import type { Question, QuestionPage } from '../../../../../client/responses.ts'
import { get } from '../api.ts'
import { useReading } from '../hooks.ts'
import { useRef, useState } from '../ui.ts'

export interface QuestionsState {
  /** Null before they are known. */
  questions: readonly Question[] | null
  /** Whether there may be more than these. */
  hasMore: boolean
  error: unknown
}

/** The open questions, again every `everyMs` while the tab can be seen; none are read if the visitor may not. */
export function useQuestions(query: URLSearchParams, everyMs: number, isNeeded = true) {
  const [state, setState] = useState<QuestionsState>({ questions: null, hasMore: false, error: null })
  const filter = query.toString()
  const shown = useRef(filter)

  async function read(signal: AbortSignal): Promise<void> {
    if (!isNeeded) return
    const next = await readPages(filter, signal).catch((error: unknown) => ({ error }))
    if (signal.aborted) return
    const isOther = shown.current !== filter
    shown.current = filter
    setState((before) => ({ ...before, ...(isOther && { questions: null }), ...next }))
  }

  const retry = useReading(read, isNeeded ? everyMs : null, [filter])
  return { ...state, retry }
}

// Pages have the questions of 1000 runs, so most have few.
const MAX_PAGES = 3

async function readPages(filter: string, signal: AbortSignal): Promise<QuestionsState> {
  const questions: Question[] = []
  let token: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams(filter)
    query.set('pageSize', '1000')
    if (token !== null) query.set('pageToken', token)
    const read: QuestionPage = await get<QuestionPage>('questions', query, signal)
    questions.push(...read.questions)
    token = read.nextPageToken
    if (token === null) break
  }
  return { questions, hasMore: token !== null, error: null }
}

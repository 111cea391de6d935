import { span } from '../../../src/worker/index.ts'

/** Two spans, one inside the other. */
export async function twoSpans(): Promise<string> {
  return span('llm', 'outer', () =>
    span('http', 'inner', async (call) => {
      call.set({ status: 200 })
      return 'done'
    }),
  )
}

/** As short as an activity can be. */
export async function noop(): Promise<void> {}

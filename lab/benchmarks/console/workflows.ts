import { proxyActivities } from '@temporalio/workflow'

const { validate } = proxyActivities<{ validate(input: object): Promise<void> }>({ startToCloseTimeout: '1m' })

/** So many steps, a hundred at a time. */
export async function steps(count: number): Promise<void> {
  for (let at = 0; at < count; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => validate({ index: at + index })))
}

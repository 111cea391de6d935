import { expect, test } from 'vitest'
import type { EngineFixture } from './engine-fixture.ts'

/** The outcomes of runs that fail, time out, or are canceled or terminated. */
export function failures(fixture: EngineFixture): void {
  const outcomeOf = async (workflow: string) => (await fixture.closed(await fixture.start(workflow))).outcome

  test('failure: an activity without retries left keeps the class of its error as the name, and is retryable', async () => {
    expect(await outcomeOf('failAfterRetries')).toMatchObject({
      error: { name: 'RangeError', message: 'always out of range', retryable: true, activityId: '1' },
    })
  })

  test('failure: the timeout of an activity is TimeoutFailure', async () => {
    expect(await outcomeOf('failInActivityTimeout')).toMatchObject({
      error: { name: 'TimeoutFailure', activityId: '1', retryable: true },
    })
  })

  test('failure: an error that wraps the error of an activity is returned itself', async () => {
    expect(await outcomeOf('failWrapped')).toMatchObject({
      error: {
        name: 'Outer',
        message: 'could not go on',
        activityId: null,
        cause: { name: 'ActivityFailure', cause: { name: 'BadInput' } },
      },
    })
  })

  test('failure: an activity error rethrown as an application failure is that of the activity, in a child too', async () => {
    const error = { name: 'BadInput', message: 'no retry please', retryable: false, activityId: '1' }

    expect(await outcomeOf('failRethrown')).toMatchObject({ status: 'failed', error })
    expect(await outcomeOf('failRethrownByParent')).toMatchObject({ status: 'failed', error })
  })
}

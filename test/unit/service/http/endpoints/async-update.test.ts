import { expect, test } from 'vitest'
import type { ReadUpdateCommand } from '../../../../../src/service/model/commands.ts'
import type { UpdateState } from '../../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { makeApi } from '../api.ts'
import { RUN_ID } from '../run-api.ts'

const UPDATE = { workflowId: 'orders/17', runId: RUN_ID, updateId: 'u 1' }
const PATH = '/workflow/orders%2F17/update/add%2Fitem'
const LOCATION = `/workflow/orders%2F17/runs/${RUN_ID}/update/add%2Fitem/u%201`

/** `update` is only there for requests without the preference. */
function makeUpdateApi(state: UpdateState | ServiceError = { ...UPDATE, stage: 'accepted' }) {
  const reads: ReadUpdateCommand[] = []
  const api = makeApi({
    workflows: {
      update: async () => 'in time',
      startUpdate: async () => UPDATE,
      readUpdate: async (command) => {
        reads.push(command)
        if (state instanceof ServiceError) throw state
        return state
      },
    },
  })
  const send = (prefer: string) => api.call('POST', PATH, { payload: 1 }, { Prefer: prefer })
  return { ...api, send, reads }
}

test('update: with a time to wait it reads the run that accepted the update, at most 60 s', async () => {
  const { send, reads } = makeUpdateApi({ ...UPDATE, stage: 'completed', result: null })

  const responses = [await send('respond-async, wait=7'), await send('wait=600, respond-async')]

  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  expect(responses.map(({ headers }) => headers.get('Preference-Applied'))).toEqual([
    'respond-async, wait=7',
    'respond-async, wait=60',
  ])
  expect(await responses[0]?.json()).toBeNull()
  const read = { ref: { workflowId: 'orders/17', runId: RUN_ID }, name: 'add/item', updateId: 'u 1' }
  expect(reads).toEqual([
    { ...read, waitMs: 7000 },
    { ...read, waitMs: 60_000 },
  ])
})

test.for(['EngineUnavailableError', 'ResourceExhaustedError'] as const)(
  'update: an accepted update that cannot be read because of %s is a 202',
  async (name) => {
    const { send } = makeUpdateApi(new ServiceError(name, 'away', { details: { retryAfterSeconds: 1 } }))

    const response = await send('respond-async, wait=7')

    const { headers } = response
    expect([response.status, headers.get('Location'), headers.get('Retry-After')]).toEqual([202, LOCATION, null])
    expect(await response.json()).toEqual({ ...UPDATE, stage: 'accepted' })
  },
)

test('update: any other error after it was accepted has its ids and no Retry-After', async () => {
  const details = { retryAfterSeconds: 1 }
  const { send } = makeUpdateApi(
    new ServiceError('PayloadCodecError', 'The codec server could not decode the payloads.', { details }),
  )

  const response = await send('respond-async, wait=7')

  const { headers } = response
  expect([response.status, headers.get('Location'), headers.get('Retry-After')]).toEqual([424, LOCATION, null])
  expect(await response.json()).toMatchObject({ error: 'ResultUnreadableError', ...UPDATE })
})

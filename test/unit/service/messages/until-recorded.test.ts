import { expect, test } from 'vitest'
import { untilRecorded } from '../../../../src/service/messages/until-recorded.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { aCall } from '../../call.ts'

test.each([
  [0, 'DeadlineExceededError'],
  [60_000, 'EngineUnavailableError'],
])('untilRecorded: a read that fails %i ms before the deadline is a %s', async (leftMs, name) => {
  const read = () => Promise.reject(new ServiceError('EngineUnavailableError', 'no response in time'))
  const unrecorded = () => new ServiceError('DeadlineExceededError', 'not recorded')

  const recorded = untilRecorded(read, { ...aCall(), deadlineAt: Date.now() + leftMs }, unrecorded)

  await expect(recorded).rejects.toMatchObject({ error: name })
})

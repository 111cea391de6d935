/** The model of the engine answers as the engine does, on both transports of the service. */
import { expect } from 'vitest'
import * as activities from '../../lab/soak/activities.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { compare } from './differential/compare.ts'
import { OVER } from './differential/transports.ts'

// Of each transport.
const COUNT = Number(process.env.DIFFERENTIAL_OPERATIONS ?? 100)
const SEED = Number(process.env.DIFFERENTIAL_SEED ?? 1)

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({
  workflowsPath: new URL('../../lab/soak/workflows.ts', import.meta.url),
  activities,
}))

test.for([OVER.grpc, OVER.http])(
  'engine model: answers random calls over $name as a real server does',
  async ({ transportTo }, { engine, worker, cleanup }) => {
    const transport = transportTo(engine)
    cleanup.defer(() => transport.close())
    const { taskQueue } = worker

    const { differences, leftOut, sameErrors } = await compare({ seed: SEED, count: COUNT, transport, taskQueue })

    if (Object.keys(leftOut).length > 0) console.info('Not compared:', leftOut)
    expect(differences).toEqual([])
    expect(sameErrors).toBeGreaterThan(COUNT / 10)
  },
)

import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../src/service/model/errors.ts'
import { aCall } from '../call.ts'
import { DEPLOYMENT } from './catalog-fixture.ts'
import { makeWorkflows } from './make-workflows.ts'

afterEach(() => void vi.useRealTimers())

const { uiUrl, ...DEPLOYED } = DEPLOYMENT

const CAPABILITIES = {
  ...DEPLOYED,
  features: {
    ...DEPLOYMENT.features,
    slashInIds: true,
    updateWithStart: true,
    asyncUpdates: true,
    pause: true,
    repair: true,
  },
  caller: null,
}

test('capabilities: the version, and whether runs can be paused, are null when the engine does not respond', async () => {
  const gone = () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone'))
  const { workflows } = makeWorkflows({
    ping: gone,
    pauseSupported: gone,
    repairSupported: gone,
    schedulesSupported: gone,
    activitiesSupported: gone,
  })

  const features = { ...CAPABILITIES.features, pause: null, repair: null, schedules: null, standaloneActivities: null }
  const engine = { version: null, uiUrl }
  expect(await workflows.capabilities({}, aCall())).toEqual({ ...CAPABILITIES, features, engine })
})

test('capabilities: whether runs can be paused is read once a minute; a failed read is not kept', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const answers = [
    () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
    async () => false,
    async () => true,
  ]
  const { workflows } = makeWorkflows({
    ping: async () => ({ version: '1.32.0' }),
    pauseSupported: () => answers.shift()?.() ?? Promise.reject(new Error('read too often')),
  })
  const isSupported = async () => (await workflows.capabilities({}, aCall())).features.pause

  const first = [await isSupported(), await isSupported(), await isSupported()]
  vi.advanceTimersByTime(60_000)

  expect([...first, await isSupported()]).toEqual([null, false, false, true])
})

test('ready: checks the engine at most once a second, with a timeout of one second', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const leftMs: number[] = []
  const { workflows } = makeWorkflows({
    readiness: async ({ deadlineAt }) => {
      leftMs.push(deadlineAt - Date.now())
      return 'reachable'
    },
  })

  await Promise.all([workflows.ready(), workflows.ready()])
  vi.setSystemTime(Date.now() + 999)
  expect(await workflows.ready()).toBe('reachable')
  expect(leftMs).toEqual([1000])
  vi.setSystemTime(Date.now() + 1)
  await workflows.ready()

  expect(leftMs).toEqual([1000, 1000])
})

test('ready: is unreachable when the engine client cannot be loaded', async () => {
  const { workflows } = makeWorkflows({ readiness: () => Promise.reject(new Error('EMFILE')) })

  expect(await workflows.ready()).toBe('unreachable')
})

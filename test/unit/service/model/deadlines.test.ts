import { expect, test } from 'vitest'
import { CONTRACT_MS, TIMEOUT_MS } from '../../../../src/service/model/deadlines.ts'

type Part = keyof typeof TIMEOUT_MS

const sum = (parts: readonly Part[]) => parts.reduce((total, part) => total + TIMEOUT_MS[part], 0)

test.for<[sentence: string, parts: Part[], limitMs: number]>([
  ['a request leaves time for reading it and sending the response', ['request'], CONTRACT_MS],
  ['a run is read and answered within the contract once it has ended', ['closedRun'], CONTRACT_MS],
  ['a run is described before the process exits, one second after its waits', ['closedRunAtShutdown'], 1000],
  [
    'an update-with-start names its run before the process exits',
    ['explanationAtShutdown', 'explanationAtShutdown'],
    1000,
  ],
])('deadlines: %s', ([, parts, limitMs]) => {
  expect(sum(parts)).toBeLessThan(limitMs)
})

test.for<[sentence: string, parts: Part[]]>([
  ['a message to an engine that hangs is answered', ['handlerSchema', 'pingInterval', 'ping']],
  ['a message is rejected and its run described', ['handlerSchema', 'describe']],
  ['a start reads the catalog', ['catalog']],
  ['the status of a run is read, with the reason why its task fails', ['failingTask']],
  ['a result is downloaded', ['codecDownload']],
  ['an input is encoded before the engine is called, and its answer decoded', ['codec', 'codec']],
])('deadlines: within the time of a request, %s', ([, parts]) => {
  expect(sum(parts)).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test.for<[sentence: string, parts: Part[], limitMs: number]>([
  ['an output is checked within the contract after the run was read', ['closedRun', 'outputSchema'], CONTRACT_MS],
  [
    'an update without an answer is explained within the contract after its own time',
    ['updatedRun', 'explanation'],
    CONTRACT_MS,
  ],
  ['readiness is at most 2 s old', ['readiness', 'readinessCache'], 2000],
])('deadlines: %s', ([, parts, limitMs]) => {
  expect(sum(parts)).toBeLessThanOrEqual(limitMs)
})

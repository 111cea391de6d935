import { expect, test } from 'vitest'
import { CONTRACT_MS, TIMEOUT_MS } from '../../../../src/domain/model/deadlines.ts'

const sum = (...parts: (keyof typeof TIMEOUT_MS)[]) => parts.reduce((total, part) => total + TIMEOUT_MS[part], 0)

test('deadlines: a request leaves time for reading it and sending the response', () => {
  expect(TIMEOUT_MS.request).toBeLessThan(CONTRACT_MS)
})

test('deadlines: a message to an engine that hangs is answered within the time of a request', () => {
  expect(sum('handlerSchema', 'pingInterval', 'ping')).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: a rejected message leaves time to describe the run', () => {
  expect(sum('handlerSchema', 'describe')).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: a start reads the catalog within the time of a request', () => {
  expect(TIMEOUT_MS.catalog).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: the status of a run is read within the time of a request, with the reason why its task fails', () => {
  expect(TIMEOUT_MS.failingTask).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: a result is downloaded within the time of a request', () => {
  expect(TIMEOUT_MS.codecDownload).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: an input is encoded before the engine is called, and its answer decoded, within the time of a request', () => {
  expect(sum('codec', 'codec')).toBeLessThanOrEqual(TIMEOUT_MS.request)
})

test('deadlines: a run is read and answered within the contract once it has ended', () => {
  expect(TIMEOUT_MS.closedRun).toBeLessThan(CONTRACT_MS)
})

test('deadlines: an output is checked within the contract after the run was read', () => {
  expect(sum('closedRun', 'outputSchema')).toBeLessThanOrEqual(CONTRACT_MS)
})

test('deadlines: a run is described before the process exits, one second after its waits', () => {
  expect(TIMEOUT_MS.closedRunAtShutdown).toBeLessThan(1000)
})

test('deadlines: an update-with-start names its run before the process exits', () => {
  expect(sum('explanationAtShutdown', 'explanationAtShutdown')).toBeLessThan(1000)
})

test('deadlines: an update without an answer is explained within the contract after its own time', () => {
  expect(sum('updatedRun', 'explanation')).toBeLessThanOrEqual(CONTRACT_MS)
})

test('deadlines: readiness is at most 2 s old', () => {
  expect(sum('readiness', 'readinessCache')).toBeLessThanOrEqual(2000)
})

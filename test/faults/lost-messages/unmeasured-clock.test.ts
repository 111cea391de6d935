/** Lost responses at a service that does not know how far its clock is from that of the engine. */
import { describe, expect } from 'vitest'
import { GrpcCode } from '../../../src/shared/temporal/grpc-code.ts'
import type { Answer } from '../../support/api.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy, unknown } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  const { start, withFault, ended, end, continueAsNew, serveOverProxy, proxy, api } = sendOverFaultProxy(transport)

  describe('a service that has not measured the engine’s clock', () => {
    /** The run cannot be described before the message is sent: its start would be a measurement. */
    async function faultedAtFirst(path: string, fault: Fault): Promise<Answer> {
      const service = serveOverProxy()
      const [containing = ''] = path.split('/')
      const unread = { code: GrpcCode.PERMISSION_DENIED, message: 'not now' }
      const takeBack = proxy.on({ method: 'DescribeWorkflowExecution', containing, fault: unread, times: 1 })
      const answer = await withFault(path, fault, () => service.post(path))
      takeBack()
      await service.close()
      return answer
    }

    test('signal: repeats nothing to a run as young as this', async () => {
      const run = await start('messages')
      const { workflowId } = run

      const answer = await faultedAtFirst(`${workflowId}/signal/finish`, { lost: nothing })

      expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
      await ended(run)
    })

    test('update: returns the result of an undisturbed run', async () => {
      const { workflowId } = await start('chainOnSignal', 7)

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { lost: nothing })

      expect([answer.status, answer.body]).toEqual([200, 7])
      const { text: trace } = await api.get(`${workflowId}/trace-log`)
      expect(trace.match(/"kind":"update"/g)?.length).toBe(1)
      await end(workflowId)
    })

    test('update: returns the result of the run that has accepted it and continued as new', async () => {
      const run = await start('chainOnSignal', 1)
      const { workflowId } = run

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { lost: () => continueAsNew(run) })

      expect([answer.status, answer.body]).toEqual([200, 1])
      await end(workflowId)
    })

    test('update: returns the failure of an update that has failed', async () => {
      const { workflowId } = await start('messages')

      const answer = await faultedAtFirst(`${workflowId}/update/fails`, { lost: nothing })

      expect([answer.status, answer.body.error]).toEqual([422, 'UpdateFailedError'])
      await end(workflowId)
    })

    test('update: sends one that no run has accepted to no run as young as this', async () => {
      const { workflowId } = await start('chainOnSignal', 1)

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { dropped: nothing })

      expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
      expect(answer.body.updateId).toMatch(/./)
      const { text: trace } = await api.get(`${workflowId}/trace-log`)
      expect(trace).not.toContain('"kind":"update"')
      await end(workflowId)
    })
  })
})

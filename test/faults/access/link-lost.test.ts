/** The engine loses its response to the answer of a person: the answer counts once, and the person learns it. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { errorOf, eventsOf, LINKS, linkTo, publicApi, RULES, test } from './link-fixture.ts'

const NO_MESSAGE = { signal: undefined }

test.for([
  ['a signal', 'messages', {}, 'SignalWorkflowExecution'],
  ['an update', 'messages', { ...NO_MESSAGE, update: 'set' }, 'UpdateWorkflowExecution'],
  [
    'a completion',
    'completesOutside',
    { ...NO_MESSAGE, complete: { activityId: 'approval' } },
    'RespondActivityTaskCompletedById',
  ],
] as const)(
  '%s of a link whose response is lost is recorded once (threat 63)',
  async ([_, workflowName, action, method], {
    callers: { operator, policyOf, service },
    serve,
    faultProxy,
    client,
  }) => {
    const policy = JSON.stringify(policyOf(...RULES))
    const behindProxy = serve({ ...LINKS, SERVICE_POLICY: policy, ENGINE_ADDRESS: faultProxy.address }, 'disturbed')
    const workflowId = `mail:${crypto.randomUUID()}`
    const handle = await client.workflow.start(workflowName, { workflowId, taskQueue: service.catalog, args: [{}] })
    const run = { workflowId, runId: handle.firstExecutionRunId }
    if (workflowName === 'completesOutside')
      await until('the activity waits', async () => (await handle.describe()).raw.pendingActivities?.length === 1)
    const path = await linkTo(operator, run, action)
    const holder = publicApi(behindProxy)
    let lost = 0
    faultProxy.on({ method, containing: workflowId, fault: { lost: async () => lost++ }, times: 1 })

    const first = await holder.call('POST', path, { choice: 'Reject' })
    const again = await holder.call('POST', path, { choice: 'Reject' })
    const other = await holder.call('POST', path, { choice: 'Approve' })

    expect([first.status, first.body.recorded, lost]).toEqual([200, 'Reject', 1])
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(errorOf(other)).toEqual([409, 'LinkUsedError'])
    const answers = (await eventsOf(client, run)).filter(
      (event) =>
        event.workflowExecutionSignaledEventAttributes ??
        event.workflowExecutionUpdateAcceptedEventAttributes ??
        event.activityTaskCompletedEventAttributes,
    )
    expect(answers).toHaveLength(1)
  },
)

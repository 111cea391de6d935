import { expect, test } from 'vitest'
import { pollUpdate } from '../../../../../src/service/engine/calls/poll-update.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../../../../src/shared/temporal/enums.ts'
import { aCall, rejection } from '../../../call.ts'
import { scriptedContext } from './scripted-context.ts'

const { ACCEPTED } = UpdateWorkflowExecutionLifecycleStage
const ADMITTED = ACCEPTED - 1
const request = { meta: { updateId: 'u' }, input: { name: 'set' } }
const other = { meta: { updateId: 'v' }, input: { name: 'approve' } }
const accepted = (acceptedRequest: object | null) => ({
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest },
})
const pageOf = (events: object[], token = '') => ({ history: { events }, nextPageToken: Buffer.from(token) })

/** Reads the update as one of this handler. The history has these pages, the last one first. */
async function readAs(name: string, stage: number, ...pages: object[]) {
  const run = { workflowExecution: { workflowId: 'w', runId: 'r' } }
  const { context, sent } = scriptedContext({ stage, updateRef: run }, ...pages)
  const reading = pollUpdate(context, { workflowId: 'w' }, { name, updateId: 'u', checksName: true }, 0, aCall())
  const outcome = await reading.then(
    (state) => state.stage,
    async () => (await rejection(reading)).error,
  )
  return [outcome, sent.length]
}

test('pollUpdate: the check of its name reads the history until it has the update', async () => {
  const pages = [pageOf([accepted(other)], 'more'), pageOf([{}, accepted(request)], 'more')]

  expect(await readAs('set', ACCEPTED, ...pages)).toEqual(['accepted', 3])
  expect(await readAs('approve', ACCEPTED, ...pages)).toEqual(['UpdateNotFoundError', 3])
  expect(await readAs('set', ACCEPTED, pageOf([accepted(other)]))).toEqual(['UpdateNotFoundError', 2])
})

test('pollUpdate: after a reset another event than the acceptance has the name', async () => {
  const events = [accepted(null), { workflowExecutionUpdateAdmittedEventAttributes: { request } }]

  expect(await readAs('set', ACCEPTED, pageOf(events))).toEqual(['accepted', 2])
})

test('pollUpdate: an update that no worker has seen is in no history', async () => {
  expect(await readAs('set', ADMITTED)).toEqual(['admitted', 1])
})

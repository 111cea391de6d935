/** A request that HTTP stacks could repeat is carried out once. */
import { expect } from 'vitest'
import { markedRun, test } from './fixtures.ts'
import { STACKS } from './stacks.ts'

test.for(STACKS)(
  '$name: a run that takes longer than its timeout is sent and started once (threat 108)',
  async ({ send }, { counted, browser, runsOf }) => {
    const { mark, body } = markedRun()
    counted.takeRequests()

    const received = await send({ url: `${counted.url}/workflow/run`, body }, browser)

    const requests = counted.takeRequests().map(({ line }) => line)
    const runs = await runsOf(mark)
    expect([requests, runs.length, received.status]).toEqual([['POST /workflow/run'], 1, 424])
    expect(received.body).toMatchObject({ error: 'WorkflowExecutionTimedOutError', workflowId: runs[0] })
  },
)

test.for(STACKS)(
  '$name: with a key, such a run is sent and started once (threat 108)',
  async ({ send }, { counted, browser, runsOf }) => {
    const { mark, body } = markedRun()
    counted.takeRequests()

    const { status } = await send({ url: `${counted.url}/workflow/run`, body, key: mark }, browser)

    const keys = counted.takeRequests().map(({ key }) => key)
    expect([keys, (await runsOf(mark)).length, status]).toEqual([[mark], 1, 424])
  },
)

test.for(STACKS)(
  '$name: a wait for a result that takes longer is sent once',
  async ({ send }, { counted, browser }) => {
    const { workflowId } = (await counted.first.start('neverEnds')).body
    const path = `/workflow/${workflowId}/result?wait=1s`
    counted.takeRequests()

    const { status } = await send({ url: counted.url + path }, browser)

    expect([counted.takeRequests().map(({ line }) => line), status]).toEqual([[`GET ${path}`], 424])
  },
)

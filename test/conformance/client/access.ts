import { anId, type ClientCase, equal, failure, until } from './client-fixture.ts'

/** Access for others: links for people, and tokens that expire. */
export const access: Record<string, ClientCase> = {
  async 'link: creates a link that signals, updates or completes an activity, for the open run'({ connect }) {
    const client = connect()
    const run = await client.start('messages', { workflowId: anId() })
    const waiting = await client.start('completesOutside', { input: {} })
    const beats = () => waiting.heartbeatActivity('approval').catch(() => null)
    await until('the activity waits', async () => (await beats()) !== null)
    const choices = [{ label: 'Yes', payload: 1 }, { label: 'No' }]
    const answer = ({ url }: { url: string }) =>
      client.request('POST', new URL(url).pathname, { body: { choice: 'Yes' } }) as Promise<{ recorded: string }>

    const links = [
      await run.link({ title: 'Go on?', choices, signal: 'add' }),
      await run.link({ title: 'Go on?', choices, update: 'set', expiresIn: '3d' }),
      await waiting.link({ title: 'Go on?', choices, complete: { activityId: 'approval' } }),
    ]
    const recorded: string[] = []
    for (const link of links) recorded.push((await answer(link)).recorded)

    equal(
      links.map(({ workflowId, runId }) => [workflowId, runId]),
      [run, run, waiting].map(({ workflowId, runId }) => [workflowId, runId]),
    )
    equal(recorded, ['Yes', 'Yes', 'Yes'])
    equal(await waiting.result(), [1])
    await run.signal('finish')
    equal(await run.result(), { gathered: [1], value: 1 })
    await failure(run.link({ title: 'Go on?', choices, signal: 'add' }), 'WorkflowNotRunningError')
  },

  async 'token: a stream goes on with another access token whenever one expires, and misses nothing'({ connect }) {
    const operator = connect()
    const run = await operator.start('streamSignals')
    let tokens = 0
    const token = async () => {
      tokens++
      const created = await operator.request('POST', '/tokens', { body: { can: ['read'], expiresIn: '1s' } })
      return (created as { token: string }).token
    }
    const offsets: number[] = []
    const reading = (async () => {
      for await (const { offset } of connect({ token }).stream(run.workflowId)) offsets.push(offset)
    })()

    let published = 0
    await until('three tokens have expired', async () => {
      await run.publish({ topic: 't', data: published++ })
      return tokens > 3
    })
    await run.signal('finish')
    await reading

    equal(
      offsets,
      Array.from({ length: published }, (_, offset) => offset),
    )
  },
}

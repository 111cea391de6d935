/** Batches on the command line. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliBatches(): void {
  test('portico batch: signal, stop, terminate, get, halt and ls', async ({ portico }) => {
    const ids = ['signal', 'terminate'].map((name) => `cli-${name}-${crypto.randomUUID()}`)
    const [signaled = '', terminated = ''] = ids
    const query = (id: string) => ['--query', `WorkflowId = '${id}'`]
    const batch = async (...args: string[]) => {
      const { code, stdout, stderr } = await portico(['batch', ...args])
      return { code, stderr, body: stdout === '' ? null : JSON.parse(stdout) }
    }
    // Another test may have a batch: one of the namespace is running at a time.
    const create = (...args: string[]) =>
      until('the run is listed, and no other batch is running', async () => {
        const answer = await batch(...args)
        return answer.body?.error !== 'ResourceExhaustedError' && answer.body?.matching !== 0 && answer
      })
    for (const id of ids) await portico(['start', 'waitForSignal', '--id', id])

    const sent = await create('signal', 'finish', ...query(signaled), '--input', '7', '--key', signaled, '--wait')
    const ended = await create('terminate', ...query(terminated), '--reason', 'sold out', '--wait')
    const none = await batch('stop', '--catalog', `none-${signaled}`, '--wait')
    const unfiltered = await portico(['batch', 'stop'], { env: { PORTICO_CATALOG: `none-${signaled}` } })
    const read = await portico(['batch', 'get', ended.body.batchId, '--text'])
    const halted = await batch('halt', ended.body.batchId)
    const listed = await batch('ls', '--page-size', '1000')

    expect(ended.stderr).toContain(ended.body.batchId)
    expect([sent.code, sent.body]).toMatchObject([0, { operation: 'signal', state: 'completed', matching: 1 }])
    expect([ended.code, ended.body]).toMatchObject([0, { operation: 'terminate', reason: 'sold out', processed: 1 }])
    expect(JSON.parse((await portico(['result', signaled])).stdout).output).toEqual([7])
    expect([none.code, none.body]).toEqual([0, { batchId: null, operation: 'stop', matching: 0 }])
    // The catalog of the settings is no filter.
    expect([unfiltered.code, unfiltered.stderr]).toEqual([2, expect.stringContaining('--all')])
    expect(read.stdout).toMatch(/^ +"reason": "sold out",?$/m)
    expect([halted.code, halted.body]).toEqual([0, { batchId: ended.body.batchId, stopped: false }])
    expect([listed.code, listed.body.nextPageToken]).toEqual([0, null])
  })
}

import type { WorkflowResult } from '../../client/responses.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../command.ts'
import { exitCodeOfStatus } from '../exit-code.ts'
import { readDuration } from '../flags/number-flags.ts'
import { handleOf, pathOfRun, type RunFlags } from '../flags/run-ref.ts'
import { renderResult } from '../output/run.ts'
import { settled } from './start.ts'

/** `portico result`: waits for the end of the run, unless `--no-wait` is given. */
export async function printResult(
  id: string,
  flags: CommonFlags & RunFlags & { timeout?: string; wait: boolean },
): Promise<void> {
  const act = async (command: Command) => {
    const { client, signal, show } = command
    const ended = flags.wait
      ? await settled(handleOf(client, id, flags), command, readDuration('--timeout', flags.timeout))
      : ((await client.request('GET', `${pathOfRun(id, flags)}/result`, {
          signal,
          timeoutMs: READ_TIMEOUT_MS,
        })) as WorkflowResult)
    show(ended, renderResult)
    return exitCodeOfStatus(ended.status)
  }
  await callService(flags, act, flags.wait ? { retryMs: WAIT_RETRY_MS } : {})
}

import { until } from '../../../src/cli/dev/servers/until.ts'
import { type CliEnd, type CliOptions, cli } from '../../support/cli.ts'
import { test } from '../../support/fixtures.ts'
import { testCatalog } from '../../support/test-catalog.ts'

export const TOKEN = 't0ken-of-the-test'

/** `portico` calls a service with a worker, in a pipe; `env` names the service. */
export const cliTest = test
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('serviceEnv', { scope: 'file' }, (): Record<string, string> => ({ SERVICE_API_AUTH_TOKEN: TOKEN }))
  .extend('env', { scope: 'file' }, ({ serviceProcess }) => ({
    PORTICO_URL: serviceProcess.url.replace('0.0.0.0', '127.0.0.1'),
    PORTICO_TOKEN: TOKEN,
  }))
  .extend('portico', { scope: 'file' }, ({ env }) => {
    return (args: string[], options: CliOptions = {}) => cli(args, { ...options, env: { ...env, ...options.env } })
  })

/**
 * Repeats `portico run` with a key until it ends while the run is open: on a busy machine the start may take too long.
 */
export function untilOpen(run: () => Promise<CliEnd>): Promise<CliEnd> {
  return until('the run is open when the command ends', async () => {
    const ended = await run()
    return JSON.parse(ended.stdout).error === 'WorkflowExecutionTimedOutError' && ended
  })
}

import { type CliOptions, cli } from '../../support/cli.ts'
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

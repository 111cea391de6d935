/** A worker with the workflows of the MCP tests, and a service that requires a token. */
import { test as sharedTest } from '../../support/fixtures.ts'
import { catalog } from './catalog.ts'
import { TOKEN } from './clients.ts'

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('./workflows.ts', import.meta.url),
    catalog,
  }))
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_API_AUTH_TOKEN: TOKEN }))

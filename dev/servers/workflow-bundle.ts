/** Bundles of workflow code. Creating one takes two seconds of CPU time, so processes share them through a folder. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { makeOnce } from './make-once.ts'

export interface WorkflowBundle {
  code: string
}

const inThisProcess = new Map<string, Promise<WorkflowBundle>>()

/**
 * Returns the bundle of a file of workflows, created only once. `PORTICO_WORKFLOW_BUNDLES` is the shared folder;
 * delete it when the workflows change.
 */
export function ensureWorkflowBundle(workflows: URL, payloadConverterPath = ''): Promise<WorkflowBundle> {
  const workflowsPath = fileURLToPath(workflows)
  const key = `${workflowsPath} ${payloadConverterPath}`
  const options = { workflowsPath, ...(payloadConverterPath !== '' && { payloadConverterPath }) }
  const bundle = inThisProcess.get(key) ?? fromFolder(key, () => makeBundle(options))
  inThisProcess.set(key, bundle)
  return bundle
}

async function fromFolder(key: string, make: () => Promise<WorkflowBundle>): Promise<WorkflowBundle> {
  const folder = process.env.PORTICO_WORKFLOW_BUNDLES
  if (folder === undefined) return make()
  const path = join(folder, `${createHash('sha256').update(key).digest('hex')}.js`)
  await makeOnce(path, async (unfinished) => writeFile(unfinished, (await make()).code))
  return { code: await readFile(path, 'utf8') }
}

function makeBundle(options: { workflowsPath: string; payloadConverterPath?: string }): Promise<WorkflowBundle> {
  return bundleWorkflowCode({ ...options, logger: new DefaultLogger('ERROR', () => {}) })
}

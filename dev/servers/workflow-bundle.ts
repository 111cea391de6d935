/** Bundles of workflow code. Creating one takes two seconds of CPU time, so processes share them through a folder. */
import { createHash, randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'

export interface WorkflowBundle {
  code: string
}

const inThisProcess = new Map<string, Promise<WorkflowBundle>>()

/**
 * Returns the bundle of a file of workflows, created only once. `PORTICO_WORKFLOW_BUNDLES` is the shared folder; delete it when the
 * workflows change.
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
  const stored = await readFile(path, 'utf8').catch(() => null)
  if (stored !== null) return { code: stored }
  const made = await make()
  // Renamed when it is complete, so that other processes never read half a bundle.
  const unfinished = `${path}.${randomUUID()}`
  await writeFile(unfinished, made.code)
  await rename(unfinished, path)
  return made
}

function makeBundle(options: { workflowsPath: string; payloadConverterPath?: string }): Promise<WorkflowBundle> {
  return bundleWorkflowCode({ ...options, logger: new DefaultLogger('ERROR', () => {}) })
}

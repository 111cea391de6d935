/** What all test files of a run share: an engine, as `inject('engine')`, and a folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import type { TestProject } from 'vitest/node'
import { type EngineAddresses, startEngine } from '../../dev/servers/engine.ts'
import { serverIssue } from '../../src/cli/dev/servers/temporal.ts'
import { beginRecord } from './record.ts'
import { UNDISTURBED } from './undisturbed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    engine: EngineAddresses
    /** A folder for files that several test files need and one of them makes. */
    sharedFolder: string
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Each project of vitest calls this: the first one starts what all of them share, and stops it.
  const { PORTICO_TEST_ENGINE: shared, PORTICO_WORKFLOW_BUNDLES: folder } = process.env
  if (shared !== undefined && folder !== undefined) {
    provide('engine', JSON.parse(shared))
    provide('sharedFolder', folder)
    return async () => {}
  }
  beginRecord()
  const { engine, stop } = await oneEngine()
  await assertNewEnough(engine.address)
  provide('engine', engine)
  process.env.PORTICO_TEST_ENGINE = JSON.stringify(engine)
  const sharedFolder = await mkdtemp(join(tmpdir(), 'portico-tests-'))
  provide('sharedFolder', sharedFolder)
  process.env.PORTICO_WORKFLOW_BUNDLES = sharedFolder
  return async () => {
    await stop()
    await rm(sharedFolder, { recursive: true, force: true })
  }
}

// Hundreds of task queues with one partition instead of four take the engine a third less CPU time.
// Engines that a test file starts for itself have four.
const DYNAMIC_CONFIG = {
  ...UNDISTURBED,
  'frontend.WorkflowPauseEnabled': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
}

// One of each type.
const SEARCH_ATTRIBUTES = {
  OptionKeyword: 'Keyword',
  OptionText: 'Text',
  OptionInt: 'Int',
  OptionDouble: 'Double',
  OptionBool: 'Bool',
  OptionDatetime: 'Datetime',
  OptionKeywordList: 'KeywordList',
} as const

async function oneEngine(): Promise<{ engine: EngineAddresses; stop: () => Promise<void> }> {
  const { ENGINE_ADDRESS: address, ENGINE_HTTP_URL: httpUrl } = process.env
  if (address) return { engine: { address, httpUrl: httpUrl || null, metricsUrl: null }, stop: async () => {} }
  const {
    address: ownAddress,
    httpUrl: ownHttpUrl,
    metricsUrl,
    stop,
  } = await startEngine({ dynamicConfig: DYNAMIC_CONFIG, searchAttributes: SEARCH_ATTRIBUTES })
  return { engine: { address: ownAddress, httpUrl: ownHttpUrl, metricsUrl }, stop }
}

/** On an older server, tests would fail without naming the version as the reason. */
async function assertNewEnough(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '90s' }).catch((cause: unknown) => {
    throw new Error(`The engine at ${address} cannot be reached`, { cause })
  })
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({})
    const issue = serverIssue(`Server ${serverVersion}`)
    if (issue !== null) throw new Error(`The engine at ${address} cannot be used: ${issue}`)
  } finally {
    await connection.close()
  }
}

#!/usr/bin/env node
/** `npx portico`: the service on Node, from the command line. */
import './node/exit-on-old-node.ts'
import { parseArgs } from 'node:util'
import { errorCode } from '../lib/error-code.ts'
import { errorMessage } from '../lib/error-message.ts'
import { VERSION } from '../version.ts'

const HELP = `Portico ${VERSION}: the HTTP front door for Temporal.

Usage: portico                    start the service, configured by environment variables
       portico archive [queue …]  archive the traces of task queues that no worker of the kit serves
       portico --help
       portico --version

The most important variables [and their defaults]:
  SERVICE_CATALOG_ID        catalog (task queue) of the workers; required
  ENGINE_ADDRESS            <host>:<port> of Temporal's gRPC frontend [127.0.0.1:7233]
  ENGINE_NAMESPACE          [default]
  ENGINE_API_KEY            API key, for example of Temporal Cloud
  SERVICE_API_AUTH_TOKEN    token that clients must send; without it only this machine can connect
  SERVICE_PORT              [3001]

All of them, with units and defaults: docs/configuration.md in this package.`

await main()

async function main(): Promise<void> {
  const {
    values: { help, version },
    positionals: [command, ...queues],
  } = parsed()
  if (help) console.log(HELP)
  else if (version) console.log(VERSION)
  else if (command === undefined) await import('./node/index.ts')
  else if (command === 'archive') await archive(queues)
  else fail(`Unknown command "${command}"`, 2)
}

function parsed() {
  try {
    const flag = (short: string) => ({ type: 'boolean', short, default: false }) as const
    return parseArgs({ allowPositionals: true, options: { help: flag('h'), version: flag('v') } })
  } catch (error) {
    return fail(errorMessage(error), 2)
  }
}

interface Kit {
  runArchiver(queues: readonly string[]): Promise<void>
}

// The package's own entry. It needs the Temporal SDK's worker, which the service does not install.
const KIT: string = 'portico/worker'

async function archive(queues: readonly string[]): Promise<void> {
  try {
    const kit: Kit = await import(KIT)
    await kit.runArchiver(queues)
  } catch (error) {
    if (isMissing(error))
      fail('portico archive requires @temporalio/worker and @temporalio/workflow; install them with npm', 1)
    fail(errorMessage(error), 1)
  }
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && errorMessage(error).includes('@temporalio')
}

function fail(message: string, exitCode: number): never {
  console.error(exitCode === 2 ? `${message}\nTry portico --help` : message)
  process.exit(exitCode)
}

#!/usr/bin/env node
/** `npx portico`: the service on Node, from the command line. */
import './exit-on-old-node.ts'
import { parseArgs } from 'node:util'
import { VERSION } from '../version.ts'

const HELP = `Portico ${VERSION}: the HTTP front door for Temporal.

Usage: portico              starts the service; configuration is environment variables
       portico --help
       portico --version

The ones to begin with:
  SERVICE_CATALOG_ID        catalog (task queue) of the workers; required
  ENGINE_ADDRESS            <host>:<port> of Temporal's gRPC frontend [127.0.0.1:7233]
  ENGINE_NAMESPACE          [default]
  ENGINE_API_KEY            of Temporal Cloud, or of whatever asks for one
  SERVICE_API_AUTH_TOKEN    what callers present; without it only this machine is served
  SERVICE_PORT              [3001]

All of them, with units and defaults: docs/operating.md of this package.`

await main()

async function main(): Promise<void> {
  const { help, version } = options()
  if (help) console.log(HELP)
  else if (version) console.log(VERSION)
  else await import('./node.ts')
}

function options(): { help: boolean; version: boolean } {
  try {
    const flag = (short: string) => ({ type: 'boolean', short, default: false }) as const
    return parseArgs({ options: { help: flag('h'), version: flag('v') } }).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nTry portico --help`)
    process.exit(2)
  }
}

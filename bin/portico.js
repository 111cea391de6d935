#!/usr/bin/env node
// `npx portico`, in the package and in a clone. Before `npm run build` a clone runs its sources, as npm scripts do.
import { existsSync } from 'node:fs'

const built = new URL('../dist/cli.js', import.meta.url)
if (existsSync(built)) {
  await import(built.href)
} else if (!existsSync(new URL('../node_modules', import.meta.url))) {
  fail('Run npm ci first, or npm run build.')
} else if (process.features.typescript) {
  await import('../src/cli/main.ts')
} else {
  fail(
    `Portico needs Node.js 22.18 or newer, and this is Node.js ${process.versions.node}. In a clone, npx uses the one that npm ci installs.`,
  )
}

function fail(message) {
  console.error(message)
  process.exitCode = 1
}

/**
 * The oldest supported Node.js: it runs TypeScript and parses exact JSON numbers.
 * The same as `engines` in package.json.
 */
const MIN_MAJOR = 22
const MIN_MINOR = 18

interface Versions {
  node?: string
  bun?: string
  deno?: string
}

/** An error message on an older Node.js; null on a supported one and on every other runtime. */
export function nodeVersionIssue({ node, bun, deno }: Versions = currentVersions()): string | null {
  // Bun and Deno report the version of Node.js that they are compatible with.
  if (node === undefined || bun !== undefined || deno !== undefined) return null
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major > MIN_MAJOR || (major === MIN_MAJOR && minor >= MIN_MINOR)) return null
  return `Portico needs Node.js ${MIN_MAJOR}.${MIN_MINOR} or newer, and this is Node.js ${node}`
}

function currentVersions(): Versions {
  return 'process' in globalThis ? process.versions : {}
}

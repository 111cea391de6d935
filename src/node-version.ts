/** The oldest Node.js that Portico runs on: TypeScript without a build, exact JSON numbers. `engines` in package.json says the same. */
const MIN_MAJOR = 22
const MIN_MINOR = 18

interface Versions {
  node?: string
  bun?: string
  deno?: string
}

/** One sentence when an older Node.js runs us; null on a supported one and on every other runtime. */
export function nodeVersionFault({ node, bun, deno }: Versions = currentVersions()): string | null {
  // Bun and Deno report the Node.js that they are compatible with.
  if (node === undefined || bun !== undefined || deno !== undefined) return null
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major > MIN_MAJOR || (major === MIN_MAJOR && minor >= MIN_MINOR)) return null
  return `Portico needs Node.js ${MIN_MAJOR}.${MIN_MINOR} or newer, and this is Node.js ${node}`
}

function currentVersions(): Versions {
  return 'process' in globalThis ? process.versions : {}
}

// What `reference` takes on the machine for which the bounds of the tests were chosen.
const REFERENCE_MS = 20

/** CPU time of this process in milliseconds. Other processes, however busy, do not add to it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** A bound in CPU time, longer on a machine whose processor is slower. */
export function onThisMachine(boundMs: number): number {
  const tries = Array.from({ length: 5 }, () => {
    const beganAt = cpuMs()
    reference()
    return cpuMs() - beganAt
  })
  return boundMs * Math.max(1, Math.min(...tries) / REFERENCE_MS)
}

/** Strings, objects and numbers, like the code that is measured. */
function reference(): void {
  const items = Array.from({ length: 20_000 }, (_, at) => ({ id: `item-${at}`, price: at / 7, tags: [at, at + 1] }))
  const copies = JSON.parse(JSON.stringify(items))
  copies.sort((a: { price: number }, b: { price: number }) => b.price - a.price)
}

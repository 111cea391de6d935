/** Which of the shown schemas accept more than the published ones, because something was left out. */
export interface Losses {
  /** What follows belongs to this component. */
  enter(component: object): void
  /** Something was left out. */
  add(): void
  /** The component that was entered refers to this one. */
  refer(target: object): void
  /** Components that refer to one with a loss have it too: from now on, a reference to one is a loss. */
  spread(): void
  /** What the function returns, and whether it had a loss. */
  watch<Value>(run: () => Value): [value: Value, isLoose: boolean]
}

export function createLosses(): Losses {
  const loose = new Set<object>()
  const users = new Map<object, Set<object>>()
  let current: object = {}
  let count = 0

  function add(): void {
    count++
    loose.add(current)
  }

  return {
    enter(component) {
      current = component
    },
    add,
    refer(target) {
      const known = users.get(target) ?? new Set()
      users.set(target, known.add(current))
      if (loose.has(target)) add()
    },
    spread() {
      // Also visits those that it adds.
      for (const component of loose) for (const user of users.get(component) ?? []) loose.add(user)
    },
    watch(run) {
      const before = count
      const value = run()
      return [value, count > before]
    },
  }
}

type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (first: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** The same functions, whose first argument is always `first`. */
export function bind<First, Functions extends Record<string, (first: First, ...rest: never[]) => unknown>>(
  first: First,
  functions: Functions,
): Bound<Functions> {
  const entries = Object.entries(functions).map(([name, act]) => [name, act.bind(null, first)])
  return Object.fromEntries(entries)
}

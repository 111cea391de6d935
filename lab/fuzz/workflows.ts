/** The example workflows, and some whose published schemas are hostile but legal. All of them end at once. */
export * from '../../examples/workflows.ts'

export async function echo(input: unknown): Promise<unknown> {
  return input
}

export async function recursive(tree: unknown): Promise<unknown> {
  return tree
}

export async function older(pair: unknown): Promise<unknown> {
  return pair
}

export async function strict(value: unknown): Promise<unknown> {
  return value
}

export async function nothing(): Promise<void> {}

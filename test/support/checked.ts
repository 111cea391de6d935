/**
 * Proves something about arguments that the service checks, again if one of them was not checked in time. The service
 * sends an argument unchecked, and says so in the log, if it cannot read the schema within half a second.
 */
export async function proveChecked(prove: () => Promise<void>, wasUnchecked: () => Promise<boolean>): Promise<void> {
  while (true) {
    const failure: unknown = await prove().then(
      () => null,
      (error) => error,
    )
    if (failure === null) return
    if (!(await wasUnchecked())) throw failure
  }
}

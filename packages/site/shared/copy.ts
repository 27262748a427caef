/** Copies a text, and says on the button for two seconds whether the browser has allowed it. Returns that too. */
export async function copy(text: string, button: HTMLElement): Promise<boolean> {
  // A page on plain http has no clipboard.
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
  const isCopied = await copied.then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? 'Copied' : 'Not allowed';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
  return isCopied;
}

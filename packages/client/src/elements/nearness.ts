const waiting = new WeakMap<Element, () => void>();

/** Places that are at most one screen away count as near. Servers, and some DOMs for tests, have no such observer. */
const observer =
  globalThis.IntersectionObserver &&
  new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.();
    },
    { rootMargin: '100%' },
  );

/** Calls `come`, once, when the element comes near the visible part of the page. Returns a function that stops the wait. */
export function whenNear(element: Element, come: () => void): () => void {
  const stop = () => observer?.unobserve(element);
  if (observer === undefined) come();
  else {
    waiting.set(element, () => {
      stop();
      come();
    });
    observer.observe(element);
  }
  return stop;
}

// Training with what codecs leave of gradients: four members, the product's engine, optimizer-free descent on a small
// network with known answers.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "client/averaging/error_feedback.h"
#include "client/averaging/in_memory_round.h"
